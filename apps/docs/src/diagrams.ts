import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Inlines the diagrams of a page, `![...](./diagrams/NAME.svg)` on a line of its own, so that they take the colors of the theme. Their
 * `<style>` is only for viewing the file alone.
 */
export async function inlineDiagrams(page: string, folder: string): Promise<string> {
  let result = page;
  for (const [image, path = ''] of page.matchAll(/^!\[[^\]]*\]\(\.\/(diagrams\/[\w-]+\.svg)\)$/gm)) {
    const svg = await readFile(join(folder, path), 'utf8');
    // HTML in Markdown ends at the first blank line.
    const content = svg
      .replace(/<style>[\s\S]*?<\/style>/, '')
      .replaceAll(/\n\s*\n/g, '\n')
      .trim();
    result = result.replace(image, () => `<div class="diagram">\n${content}\n</div>`);
  }
  return result;
}
