import { basename } from 'node:path';
import { makeVisible } from './hidden-text.ts';

const maxLength = 500;
const maxErrorLength = 1000;

/** A message on one line without host paths: those of `folder` become relative, others keep their last part. */
export function hidePaths(message: string, folder: string): string {
  const text = hide(message.slice(0, 4 * maxLength), folder);
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
}

/** The end of what a program has said on standard error, as `hidePaths` shows it, in lines. */
export function toErrorText(said: string, folder: string): string {
  const text = said
    .slice(-4 * maxErrorLength)
    .trim()
    .split(/\r\n|\r|\n/)
    .map((line) => hide(line, folder).trimEnd())
    .join('\n');
  return text.length <= maxErrorLength ? text : `…${text.slice(1 - maxErrorLength).toWellFormed()}`;
}

// Node and others name files by their full path.
function hide(text: string, folder: string): string {
  return makeVisible(text)
    .replaceAll(/\?sha256=[\da-f]{64}/g, '')
    .replaceAll(/file:\/\//g, '')
    .replaceAll(`${folder}/`, '')
    .replaceAll(/(?<![\w.:/])(?:[A-Za-z]:)?[\\/][^\s'"`()]*[\\/][^\s'"`()]*/g, (path) => basename(path));
}
