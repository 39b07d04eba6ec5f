type Ev = { messages: string[] };
export default function handler(event: Ev): void {
  (globalThis as any).__trace?.push("there");
  event.messages.push("there");
}
