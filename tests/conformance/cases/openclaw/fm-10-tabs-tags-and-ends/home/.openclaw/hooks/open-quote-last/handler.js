export default function handler(event) {
  event.messages.push("open-quote-last");
}
