export default function handler(event: any): void {
  (globalThis as any).__trace?.push("a-family");
  event.messages.push("a-family");
}
