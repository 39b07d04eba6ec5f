type Ev = { messages: string[] };
export default function handler(event: Ev): void {
  (globalThis as any).__trace?.push("c-10");
  event.messages.push("c-10");
}
