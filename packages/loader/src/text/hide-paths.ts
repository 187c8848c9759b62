import { basename } from 'node:path';
import { makeVisible } from './hidden-text.ts';

const maxLength = 500;
const maxErrorLength = 1000;

/** A message on one line without host paths: those in `folder` become relative, others keep their last part. */
export function hidePaths(message: string, folder: string): string {
  const text = hide(message.slice(0, 4 * maxLength), folder);
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
}

/** The error text of a program with paths hidden as by `hidePaths`, in lines, truncated to its start or end. */
export function toErrorText(said: string, folder: string, kept: 'start' | 'end'): string {
  const long = 4 * maxErrorLength;
  const text = (kept === 'start' ? said.slice(0, long) : said.slice(-long))
    .trim()
    .split(/\r\n|\r|\n/)
    .map((line) => hide(line, folder).trimEnd())
    .join('\n');
  if (text.length <= maxErrorLength) return text;
  if (kept === 'start') return `${text.slice(0, maxErrorLength - 1).toWellFormed()}…`;
  return `…${text.slice(1 - maxErrorLength).toWellFormed()}`;
}

// Node and others name files by their full path.
function hide(text: string, folder: string): string {
  return makeVisible(text)
    .replaceAll(/\?sha256=[\da-f]{64}/g, '')
    .replaceAll(/file:\/\//g, '')
    .replaceAll(`${folder}/`, '')
    .replaceAll(/(?<![\w.:/])(?:[A-Za-z]:)?[\\/][^\s'"`()]*[\\/][^\s'"`()]*/g, (path) => basename(path));
}
