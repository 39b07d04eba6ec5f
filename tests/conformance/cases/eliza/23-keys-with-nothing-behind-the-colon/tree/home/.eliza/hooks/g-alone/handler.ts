export default function handler(event: any): void {
  (globalThis as any).__trace?.push("g-alone");
  event.messages.push("g-alone");
}
