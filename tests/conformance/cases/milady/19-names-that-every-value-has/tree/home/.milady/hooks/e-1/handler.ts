type Ev = { messages: string[] };
export default function handler(event: Ev): void {
  (globalThis as any).__trace?.push("e-1");
  event.messages.push("e-1");
}
