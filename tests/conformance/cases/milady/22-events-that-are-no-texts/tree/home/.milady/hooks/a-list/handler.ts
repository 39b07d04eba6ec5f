export default function handler(event: any): void {
  (globalThis as any).__trace?.push("a-list");
  event.messages.push("a-list");
}
