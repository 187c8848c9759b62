import type { Tool } from '@holdfast/core';
import { deleteFile } from './delete-file.ts';
import { editFile } from './edit-file.ts';
import { globFiles } from './glob-files.ts';
import { grepFiles } from './grep-files.ts';
import { listFiles } from './list-files.ts';
import { readFile } from './read-file.ts';
import { writeFile } from './write-file.ts';

/**
 * The tools on the resource `filesystem`: `list_files`, `read_file`, `write_file`, `edit_file`, `delete_file`, `glob_files`, `grep_files`.
 * None is dangerous: writes are staged, and dropped if the call does not succeed.
 *
 * Failures keep the filesystem's codes (`file.*`, `path.*`) and add `filesystem.missing`, `edit.invalid` and
 * `pattern.invalid`.
 */
export function fileTools(): readonly Tool[] {
  return [listFiles, readFile, writeFile, editFile, deleteFile, globFiles, grepFiles];
}
