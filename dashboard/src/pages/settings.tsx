// What this browser keeps, and how to leave.
import type { JSX } from "preact";
import { theme, type Theme } from "../state/preferences";
import { forgetToken } from "../state/session";
import { Card } from "../view/parts";

const THEMES: readonly Theme[] = ["auto", "light", "dark"];

export function SettingsPage(): JSX.Element {
  return (
    <>
      <div class="page-head"><h1>Settings</h1></div>
      <div class="stack">
        <Card title="This browser">
          <div class="stack">
            <div class="row">Theme <div class="segments" role="group" aria-label="Theme">{THEMES.map((choice) => <button type="button" aria-pressed={theme.value === choice} onClick={() => { theme.value = choice; }}>{choice}</button>)}</div></div>
            <div class="row"><span>The token is kept in this tab until it is closed.</span><button type="button" class="button" onClick={forgetToken}>Sign out</button></div>
          </div>
        </Card>
      </div>
    </>
  );
}
