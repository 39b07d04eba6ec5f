export default function handler(event: any): void {
  (globalThis as any).__trace?.push("c-text");
  event.messages.push("c-text");
}
