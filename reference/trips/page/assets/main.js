// Puts the page together.
import { newDesk } from "./desk.js";
import { Editor } from "./editor.js";
import { memoryOf } from "./memory.js";
import { connect } from "./server.js";
import { offer, toolsOf } from "./tools.js";
import { View } from "./view.js";

const told = (name) => document.querySelector(`meta[name="${name}"]`).content;

const draft = told("draft");
const deadlines = { mutation: Number(told("editor-deadline")), lookup: Number(told("editor-lookup-deadline")) };
const editor = new Editor(newDesk(draft), connect(draft, deadlines), memoryOf(draft, globalThis.sessionStorage));
const view = new View(document, editor);
editor.changed = () => view.draw();

view.draw();
view.offered((await offer(toolsOf(editor), document.modelContext)) !== null);
view.opened(await editor.open());
