import { definePack, type Pack } from '@holdfast/core';
import manifest from '../package.json' with { type: 'json' };
import { guardedFiles } from './guarded-files.ts';
import { keptFiles, outsideFiles, scopedFiles, secretFiles } from './judges.ts';
import { configSchema, type FilesystemGuardOptions } from './options.ts';

/**
 * Secret files are neither read, written nor deleted, what runs by itself is not changed unasked, and calls stay in the workspace. A call is
 * judged by its facts (`call.facts`), not by the name of its tool; without facts every call is denied.
 *
 * A success that touched a secret, kept or foreign file of the resource `filesystem` although its facts did not say so fails before it is
 * committed, with `policy.secret_files`, `policy.read_only_files` or `policy.path_scope`. Keeps no state.
 */
export const filesystemGuard: Pack<FilesystemGuardOptions> = definePack<FilesystemGuardOptions, FilesystemGuardOptions>(
  {
    name: 'filesystem-guard',
    version: manifest.version,
    description: 'Keeps secret files unread, what runs by itself unchanged, and calls in the workspace.',
    configSchema,
    presets: {
      recommended: {
        description: 'Secrets are refused; a person is asked about what is outside, runs by itself, or is not clear.',
        config: { selfRunning: 'ask', outside: 'ask', unclear: 'ask', project: 'allow' },
      },
      strict: {
        description:
          'Nobody is asked: what is outside, runs by itself or is not clear is refused, code of the workspace too.',
        config: { selfRunning: 'deny', outside: 'deny', unclear: 'deny', project: 'deny' },
      },
    },
    policies(options) {
      const { read, write } = options;
      const judges = [secretFiles(options), keptFiles(options), outsideFiles(options)];
      return [...judges, ...(read === undefined && write === undefined ? [] : [scopedFiles({ read, write })])].map(
        guardedFiles,
      );
    },
  },
);
