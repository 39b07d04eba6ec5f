export default function handler(event) {
  event.messages.push("dots");
}
