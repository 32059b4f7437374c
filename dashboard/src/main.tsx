import { render } from "preact";
import "./styles.css";
import { Frame } from "./frame";
import "./state/preferences";

const root = document.getElementById("app");
if (root) render(<Frame />, root);
