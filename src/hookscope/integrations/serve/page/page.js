"use strict";
// The terminal measures its font once, so it starts after the font has loaded.
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

const SERVER_ENDED = 1001; // a new server has another token, so this address no longer works
const LOST = 1006;
const LONGEST_MODE = 100; // bytes; shorter messages set modes of the terminal and paint nothing
// The terminal does not expose its socket, and only the close event has the reason.
window.WebSocket = class extends WebSocket {
  constructor(...address) {
    super(...address);
    this.addEventListener("close", ended);
    this.addEventListener("message", ({ data }) => {
      if (data.byteLength > LONGEST_MODE) document.body.classList.add("-painted");
    });
  }
  send(data) {
    if (this.readyState === WebSocket.OPEN) super.send(data); // the terminal keeps sending to a closed socket
  }
};

function ended({ code, reason }) {
  const otherwise = code === LOST ? "`hookscope serve` no longer answers." : "This console has ended.";
  document.getElementById("why").textContent = reason || otherwise;
  start.hidden = code === SERVER_ENDED;
  document.body.classList.add("-closed"); // shows the button, as a hidden one takes no focus
  start.focus();
}

const script = document.createElement("script");
script.src = "static/js/textual.js";
script.addEventListener("load", (event) => {
  // textual.js opens its terminal when the page has loaded: often already, at times only after this.
  const openTerminal = window.onload;
  window.onload = null; // a second terminal would have a console of its own, and the keys of the first
  openTerminal(event);
  terminal.querySelector("textarea")?.focus();
});
const late = new Promise((resolve) => setTimeout(resolve, 2000));
const letters = ["16px", "bold 16px"].map((style) => document.fonts.load(`${style} 'Roboto Mono'`));
Promise.race([Promise.allSettled(letters), late]).then(() => document.body.append(script));
