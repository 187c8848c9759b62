import { isFilePattern, type SecretPatterns } from '@holdfast/facts/rules';
import * as v from 'valibot';

type Answer = 'allow' | 'ask' | 'deny';

/**
 * The options of `filesystemGuard`. Patterns support `*`, `?`, `**`, `[a-z]` and `{a,b}` and ignore case. A pattern without `/` matches
 * files and folders of that name anywhere; one with `/` starts at the workspace's root.
 */
export interface FilesystemGuardOptions extends SecretPatterns {
  /** Files and folders that may be read, relative to the workspace's root. Default: all. */
  readonly read?: readonly string[] | undefined;
  /** Files and folders that may be written and deleted. Default: all. */
  readonly write?: readonly string[] | undefined;
  /** Patterns of files that must not be written or deleted, besides `.git`. Default: none. */
  readonly readOnly?: readonly string[] | undefined;
  /** Decision for changes of files that other programs run by themselves (see `runsByItself` of core). Default `ask`. */
  readonly selfRunning?: Answer | undefined;
  /** Decision for files outside of the workspace. Default `ask`. */
  readonly outside?: Answer | undefined;
  /** Decision if it is unclear which files a call uses, or it uses a whole folder. Default `deny`. */
  readonly unclear?: 'ask' | 'deny' | undefined;
  /** Decision for workspace code that may use any file, such as a test runner. Default `allow`. */
  readonly project?: Answer | undefined;
}

const pattern = v.pipe(
  v.string(),
  v.check(isFilePattern, 'must be a pattern of at most 500 characters with closed brackets, without `..` and `\\`'),
);
const patterns = v.optional(v.array(pattern));
const path = v.pipe(
  v.string(),
  v.check(
    (text) => !/[*?[\]{}\\\p{Cc}]/u.test(text) && !text.split('/').includes('..'),
    'must be a file or folder relative to the root, without `..`, `\\` and wildcards',
  ),
);
const paths = v.optional(v.array(path));
const answer = v.optional(v.picklist(['allow', 'ask', 'deny']));
const former = v.optional(
  v.never('is no longer an option: calls are judged by their facts; pass `fileFacts({ tools: … })` to `createFacts`'),
);

export const configSchema: v.GenericSchema<FilesystemGuardOptions> = v.strictObject({
  read: paths,
  write: paths,
  secrets: patterns,
  notSecret: patterns,
  readOnly: patterns,
  selfRunning: answer,
  outside: answer,
  unclear: v.optional(v.picklist(['ask', 'deny'])),
  project: answer,
  readers: former,
  writers: former,
  searchers: former,
});
