export default function handler(event: any): void {
  (globalThis as any).__trace?.push("g-any");
  event.messages.push("g-any");
}
