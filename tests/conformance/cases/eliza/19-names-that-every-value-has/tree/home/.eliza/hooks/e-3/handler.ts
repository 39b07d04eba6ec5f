type Ev = { messages: string[] };
export default function handler(event: Ev): void {
  (globalThis as any).__trace?.push("e-3");
  event.messages.push("e-3");
}
