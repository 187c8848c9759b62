import { isFilePattern, type SecretPatterns } from '@holdfast/facts/rules';
import * as v from 'valibot';

type Answer = 'allow' | 'ask' | 'deny';

/**
 * The options of `filesystemGuard`. A pattern has `*`, `?`, `**`, `[a-z]` and `{a,b}` and goes by any letter case; one without `/` is
 * for files and folders of that name anywhere, one with it starts at the workspace's root.
 */
export interface FilesystemGuardOptions extends SecretPatterns {
  /** Files and folders that may be read, from the workspace's root on. Default: all. */
  readonly read?: readonly string[] | undefined;
  /** Files and folders that may be written and deleted. Default: all. */
  readonly write?: readonly string[] | undefined;
  /** Patterns of files that are neither written nor deleted, beside `.git`. Default: none. */
  readonly readOnly?: readonly string[] | undefined;
  /** What is answered when a file is changed that other programs run by themselves, as `runsByItself` of core has them. Default `ask`. */
  readonly selfRunning?: Answer | undefined;
  /** What is answered to files outside of the workspace. Default `ask`. */
  readonly outside?: Answer | undefined;
  /** What is answered when it is not clear which files a call uses, or a whole folder is used. Default `deny`. */
  readonly unclear?: 'ask' | 'deny' | undefined;
  /** What is answered to code of the workspace, such as a test runner, that may use any file. Default `allow`. */
  readonly project?: Answer | undefined;
}

const pattern = v.pipe(
  v.string(),
  v.check(isFilePattern, 'must be a pattern of at most 500 characters without `..` and `\\`, its brackets closed'),
);
const patterns = v.optional(v.array(pattern));
const path = v.pipe(
  v.string(),
  v.check(
    (text) => !/[*?[\]{}\\\p{Cc}]/u.test(text) && !text.split('/').includes('..'),
    'must be a file or folder from the root on, without `..`, `\\` and wildcards',
  ),
);
const paths = v.optional(v.array(path));
const answer = v.optional(v.picklist(['allow', 'ask', 'deny']));
const former = v.optional(
  v.never('is no option any more: a call is judged by its facts, so hand `fileFacts({ tools: … })` to `createFacts`'),
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
