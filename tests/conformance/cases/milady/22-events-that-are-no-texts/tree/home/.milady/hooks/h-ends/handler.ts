export default function handler(event: any): void {
  (globalThis as any).__trace?.push("h-ends");
  event.messages.push("h-ends");
}
