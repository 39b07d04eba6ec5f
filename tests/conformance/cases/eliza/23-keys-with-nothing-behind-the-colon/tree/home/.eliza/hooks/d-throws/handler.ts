export default function handler(event: any): void {
  (globalThis as any).__trace?.push("d-throws");
  event.messages.push("d-throws");
  throw new Error("broke");
}
