import { digestOf } from './tool-files.ts';

/** The text of a file that people are shown; of what is no text, such as a program, a line that tells it from another one. */
export function toShownText(bytes: Uint8Array): string {
  try {
    if (!bytes.includes(0)) return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // No text: the decoder says no more than this.
  }
  return `(no text: ${bytes.length} bytes, SHA-256 ${digestOf(bytes)})\n`;
}
