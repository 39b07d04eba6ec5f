export default function handler(event: any): void {
  (globalThis as any).__trace?.push("e-twice");
  event.messages.push("e-twice");
}
