import type { Json, JsonObject } from '@holdfast/core';
import type { ToolCommand } from '@holdfast/loader/language';
import { isPlainPath, type Report } from '@holdfast/loader/language';

const maxWords = 100;
const maxFiles = 100;
const commandHint = 'For example: `"command": ["./count.sh", "--json"]` or `["python3", "./count.py"]`.';

/** True if a word of a command, or an entry of `files`, names a file beside the tool file. */
export function isOwnFile(word: string): boolean {
  return word.startsWith('./');
}

/** Checks `command` and `files`, without looking at the files themselves; `undefined` without a valid command. */
export function checkCommand({ command, files = [] }: JsonObject, report: Report): ToolCommand | undefined {
  if (!isTexts(command) || command.length === 0 || command.length > maxWords) {
    const message = `\`command\` must be a list of 1 to ${maxWords} strings: a program and its arguments.`;
    report({ code: 'tool.command.invalid', path: ['command'], message, hint: commandHint });
    return undefined;
  }
  const problems = command.map((word, index) => findWordProblem(word, index));
  for (const [index, problem] of problems.entries()) {
    if (problem === undefined) continue;
    report({ code: 'tool.command.invalid', path: ['command', String(index)], message: problem, hint: commandHint });
  }
  if (!isTexts(files) || files.length > maxFiles || !files.every(isOwnPath)) {
    const message = `\`files\` must be a list of at most ${maxFiles} paths that start with \`./\` and name files beside this one.`;
    const hint = 'Name each file that the command needs, such as `"files": ["./words.txt"]`; folders are not allowed.';
    report({ code: 'tool.command.invalid', path: ['files'], message, hint });
    return undefined;
  }
  if (problems.some((problem) => problem !== undefined)) return undefined;
  return { words: command, files: [...new Set([...command.filter(isOwnFile), ...files])].sort() };
}

function findWordProblem(word: string, index: number): string | undefined {
  if (word.includes('\0')) return 'A word of a command must not contain a NUL.';
  if (isOwnFile(word)) return isOwnPath(word) ? undefined : `\`${word}\` is not the path of a file beside this one.`;
  if (index > 0) return undefined;
  if (/^[\w.+-]{1,100}$/.test(word) && !/^[.-]/.test(word)) return undefined;
  return `\`${word}\` is neither the name of a program nor a path that starts with \`./\`.`;
}

function isOwnPath(path: string): boolean {
  return isOwnFile(path) && isPlainPath(path.slice(2));
}

function isTexts(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
