export default function handler(event: any): void {
  (globalThis as any).__trace?.push("d-split");
  event.messages.push("d-split");
}
