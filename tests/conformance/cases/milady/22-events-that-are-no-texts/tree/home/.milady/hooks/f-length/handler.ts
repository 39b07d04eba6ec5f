export default function handler(event: any): void {
  (globalThis as any).__trace?.push("f-length");
  event.messages.push("f-length");
}
