export default function handler(event: any): void {
  (globalThis as any).__trace?.push("e-null");
  event.messages.push("e-null");
}
