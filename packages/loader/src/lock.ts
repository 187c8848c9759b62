export { lockServer, readLockedServer } from './pins/servers.ts';
