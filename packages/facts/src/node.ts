export { nodeDisk } from './node-disk.ts';
