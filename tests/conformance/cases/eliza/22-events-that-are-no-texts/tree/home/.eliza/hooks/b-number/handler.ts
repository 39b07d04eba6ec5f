export default function handler(event: any): void {
  (globalThis as any).__trace?.push("b-number");
  event.messages.push("b-number");
}
