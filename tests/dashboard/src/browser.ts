// One browser for a test file, and a fresh context for each case.

import { join } from "node:path";
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";

const ARGUMENTS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
];

let browser: Browser | null = null;

export async function openPage(address: string, options: { width?: number; height?: number; dark?: boolean } = {}): Promise<Page> {
  browser ??= await chromium.launch({ executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium", args: ARGUMENTS });
  const context: BrowserContext = await browser.newContext({
    viewport: { width: options.width ?? 1280, height: options.height ?? 860 },
    colorScheme: options.dark ? "dark" : "light",
  });
  await servePagesFrom(context, process.env["DASHBOARD_DIST"]);
  const page = await context.newPage();
  // A dashboard that asks another machine for anything, or has an error, fails the case.
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => { if (message.text().includes("Content Security Policy")) faults.push(message.text()); });
  page.on("request", (request) => { if (!request.url().startsWith(new URL(address).origin)) faults.push(`requested ${request.url()}`); });
  (page as Page & { faults: string[] }).faults = faults;
  await page.goto(address);
  return page;
}

/** With `DASHBOARD_DIST` the pages come from that folder: for working on them without building the
 * binary again. */
async function servePagesFrom(context: BrowserContext, folder: string | undefined): Promise<void> {
  if (!folder) return;
  const files = { "/": "index.html", "/dashboard.js": "dashboard.js", "/dashboard.css": "dashboard.css" };
  for (const [path, file] of Object.entries(files)) await context.route((url) => url.pathname === path, async (route) => {
    // With the headers of the server: its policy counts here, too.
    const response = await route.fetch({ headers: { ...route.request().headers(), "accept-encoding": "identity" } });
    await route.fulfill({ response, path: join(folder, file) });
  });
}

export function faultsOf(page: Page): string[] {
  return (page as Page & { faults: string[] }).faults;
}

export async function closeBrowser(): Promise<void> {
  await browser?.close();
  browser = null;
}
