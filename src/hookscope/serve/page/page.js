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
document.getElementById("start").addEventListener("click", () => location.reload());

const script = document.createElement("script");
script.src = "static/js/textual.js";
script.addEventListener("load", (event) => {
  window.onload(event); // it waits for a moment that has passed
  terminal.querySelector("textarea")?.focus();
});
const late = new Promise((resolve) => setTimeout(resolve, 2000));
const letters = ["16px", "bold 16px"].map((style) => document.fonts.load(`${style} 'Roboto Mono'`));
Promise.race([Promise.allSettled(letters), late]).then(() => document.body.append(script));
