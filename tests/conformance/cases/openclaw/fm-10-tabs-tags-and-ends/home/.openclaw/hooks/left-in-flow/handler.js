export default function handler(event) {
  event.messages.push("left-in-flow");
}
