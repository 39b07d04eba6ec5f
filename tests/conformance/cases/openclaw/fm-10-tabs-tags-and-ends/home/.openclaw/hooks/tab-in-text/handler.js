export default function handler(event) {
  event.messages.push("tab-in-text");
}
