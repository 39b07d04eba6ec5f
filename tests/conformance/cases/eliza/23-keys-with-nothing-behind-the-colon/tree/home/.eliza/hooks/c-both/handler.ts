export default function handler(event: any): void {
  (globalThis as any).__trace?.push("c-both");
  event.messages.push("c-both");
}
