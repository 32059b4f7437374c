// A browser whose person agrees to everything: follows the redirects of a page.

await fetch(process.argv.at(-1), { redirect: "follow" });
