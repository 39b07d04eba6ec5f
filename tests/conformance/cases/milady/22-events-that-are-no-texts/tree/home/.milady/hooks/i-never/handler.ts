export default function handler(event: any): void {
  (globalThis as any).__trace?.push("i-never");
  event.messages.push("i-never");
}
