// What a person chose on this machine: kept between visits.
import { effect, signal } from "@preact/signals";

export type Theme = "auto" | "light" | "dark";

const THEME_KEY = "windlass.theme";

function storedTheme(): Theme {
  const value = localStorage.getItem(THEME_KEY);
  return value === "light" || value === "dark" ? value : "auto";
}

export const theme = signal<Theme>(storedTheme());

effect(() => {
  const chosen = theme.value;
  localStorage.setItem(THEME_KEY, chosen);
  if (chosen === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
});
