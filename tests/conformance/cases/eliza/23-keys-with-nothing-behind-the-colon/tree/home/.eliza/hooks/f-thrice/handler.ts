export default function handler(event: any): void {
  (globalThis as any).__trace?.push("f-thrice");
  event.messages.push("f-thrice");
}
