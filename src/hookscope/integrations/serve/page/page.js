"use strict";
// The terminal measures its letters once, so it begins when the font is there.
const terminal = document.getElementById("terminal");
const socket = new URL("ws", location.href);
socket.protocol = location.protocol === "https:" ? "wss:" : "ws:";
socket.search = "";
socket.hash = "";
terminal.dataset.sessionWebsocketUrl = socket.href;
const size = Number(new URLSearchParams(location.search).get("fontsize"));
if (size >= 6 && size <= 72) terminal.dataset.fontSize = String(size);
const start = document.getElementById("start");
start.addEventListener("click", () => location.reload());

const SERVER_ENDED = 1001; // what it prints when it is started again has another token
const LOST = 1006;
// The terminal keeps its socket to itself, and why that was closed stands in the event alone.
window.WebSocket = class extends WebSocket {
  constructor(...address) {
    super(...address);
    this.addEventListener("close", ended);
  }
  send(said) {
    if (this.readyState === WebSocket.OPEN) super.send(said); // the terminal goes on talking to one that is shut
  }
};

function ended({ code, reason }) {
  const otherwise = code === LOST ? "`hookscope serve` does not answer any more." : "This console has ended.";
  document.getElementById("why").textContent = reason || otherwise;
  start.hidden = code === SERVER_ENDED;
  document.body.classList.add("-closed"); // as the terminal does: what is not shown takes no focus
  start.focus();
}

const script = document.createElement("script");
script.src = "static/js/textual.js";
script.addEventListener("load", (event) => {
  window.onload(event); // it waits for a moment that has passed
  terminal.querySelector("textarea")?.focus();
});
const late = new Promise((resolve) => setTimeout(resolve, 2000));
const letters = ["16px", "bold 16px"].map((style) => document.fonts.load(`${style} 'Roboto Mono'`));
Promise.race([Promise.allSettled(letters), late]).then(() => document.body.append(script));
