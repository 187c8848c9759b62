import type { Json, JsonObject } from '@holdfast/core';
import type { ToolCommand } from '@holdfast/loader';
import { isPlainPath, type Report } from '@holdfast/loader/language';

const maxWords = 100;
const maxFiles = 100;
const commandHint = 'Write for example `"command": ["./count.sh", "--json"]` or `["python3", "./count.py"]`.';

/** Whether a word of a command, or an entry of `files`, names a file beside the tool file. */
export function isOwnFile(word: string): boolean {
  return word.startsWith('./');
}

/** Checks `command` and `files`; whether the files are there is seen where they lie. `undefined` where there is no sound command. */
export function checkCommand({ command, files = [] }: JsonObject, report: Report): ToolCommand | undefined {
  if (!isTexts(command) || command.length === 0 || command.length > maxWords) {
    const message = `\`command\` must be a list of 1 to ${maxWords} texts: a program and its arguments.`;
    report({ code: 'tool.command.invalid', path: ['command'], message, hint: commandHint });
    return undefined;
  }
  const problems = command.map((word, index) => findWordProblem(word, index));
  for (const [index, problem] of problems.entries()) {
    if (problem === undefined) continue;
    report({ code: 'tool.command.invalid', path: ['command', String(index)], message: problem, hint: commandHint });
  }
  if (!isTexts(files) || files.length > maxFiles || !files.every(isOwnPath)) {
    const message = `\`files\` must be a list of at most ${maxFiles} paths that begin with \`./\` and lead to files beside this one.`;
    const hint = 'Name each file that the command needs, such as `"files": ["./words.txt"]`; folders cannot be named.';
    report({ code: 'tool.command.invalid', path: ['files'], message, hint });
    return undefined;
  }
  if (problems.some((problem) => problem !== undefined)) return undefined;
  return { words: command, files: [...new Set([...command.filter(isOwnFile), ...files])].sort() };
}

function findWordProblem(word: string, index: number): string | undefined {
  if (word.includes('\0')) return 'No word of a command can hold a NUL.';
  if (isOwnFile(word)) return isOwnPath(word) ? undefined : `\`${word}\` leads to no file beside this one.`;
  if (index > 0) return undefined;
  if (/^[\w.+-]{1,100}$/.test(word) && !/^[.-]/.test(word)) return undefined;
  return `\`${word}\` is neither the name of a program nor a path that begins with \`./\`.`;
}

function isOwnPath(path: string): boolean {
  return isOwnFile(path) && isPlainPath(path.slice(2));
}

function isTexts(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
