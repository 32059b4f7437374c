// One browser for a test file, and a fresh context for each case.
import { chromium } from "playwright-core";
const ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
];
let browser = null;
export async function openPage(address, options = {}) {
    browser ??= await chromium.launch({ executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium", args: ARGUMENTS });
    const context = await browser.newContext({
        viewport: { width: options.width ?? 1280, height: options.height ?? 860 },
        colorScheme: options.dark ? "dark" : "light",
    });
    const page = await context.newPage();
    // A dashboard that asks another machine for anything, or has an error, fails the case.
    const faults = [];
    page.on("pageerror", (error) => faults.push(String(error)));
    page.on("request", (request) => { if (!request.url().startsWith(new URL(address).origin))
        faults.push(`requested ${request.url()}`); });
    page.faults = faults;
    await page.goto(address);
    return page;
}
export function faultsOf(page) {
    return page.faults;
}
export async function closeBrowser() {
    await browser?.close();
    browser = null;
}
