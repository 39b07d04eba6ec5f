export default function handler(event: any): void {
  (globalThis as any).__trace?.push("h-bare");
  event.messages.push("h-bare");
}
