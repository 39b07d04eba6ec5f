type Ev = { messages: string[] };
export default function handler(event: Ev): void {
  (globalThis as any).__trace?.push("oddany");
  event.messages.push("oddany");
}
