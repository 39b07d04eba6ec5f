export default function handler(event: any): void {
  (globalThis as any).__trace?.push("b-colon");
  event.messages.push("b-colon");
}
