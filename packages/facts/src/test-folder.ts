import type { PlaceView } from '@holdfast/core';
import { memoryDisk } from './places/memory-disk.ts';

/** The folder of the tables. */
export const folder: PlaceView = {
  folder: '/w',
  workspace: '/w',
  home: '/home/me',
  disk: memoryDisk({
    '/w/.env': 'KEY=CANARY\n',
    '/w/.env.example': 'KEY=\n',
    '/w/.gitignore': '.env\nid_rsa\nnode_modules\nx\n',
    '/w/.git/config': '[core]\n',
    '/w/.git/HEAD': 'ref: refs/heads/main\n',
    '/w/sub/.env': 'KEY=CANARY\n',
    '/w/sub/b.txt': 'b\n',
    '/w/id_rsa': 'CANARY\n',
    '/w/src/a.ts': 'export const a = 1;\n',
    '/w/src/b.ts': 'export const b = 1;\n',
    '/w/README.md': '# Read\n',
    '/w/package.json': '{}\n',
    '/w/Makefile': 'all:\n\ttrue\n',
    '/w/x': { link: '.env' },
    '/w/linked': { link: '/outside/docs' },
    '/outside/docs/index.md': 'docs\n',
    '/home/me/.ssh/id_ed25519': 'CANARY\n',
    '/home/me/.bashrc': '',
    '/etc/passwd': 'root\n',
    '/tmp/y': '',
  }),
};
