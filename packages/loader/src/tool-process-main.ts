import { Socket } from 'node:net';
import { catchStrays, forbidSignals, forbidSocketFiles, forbidTraces } from './child/guard-process.ts';
import { createProgramFinder } from './child/tagged-programs.ts';
import { ToolServer } from './child/tool-server.ts';

// The program of a tool's process. Descriptor 3 is connected to the host.
const exit = process.exit.bind(process);
const socket = new Socket({ fd: 3, readable: true, writable: true });
// Created now, so that they count as resources that existed before any call.
const streams = [process.stdout, process.stderr];
for (const stream of streams) stream.on('error', () => undefined);
const server = new ToolServer({
  send: (frame) => void socket.write(frame),
  hold: (held) => void (held ? socket.ref() : socket.unref()),
  leavesPrograms: process.permission?.has('child') === true ? createProgramFinder() : () => false,
});
forbidSignals();
forbidTraces();
forbidSocketFiles(socket);
catchStrays((thrown) => server.crash(thrown));
process.on('beforeExit', () => server.stall());
socket.on('data', (chunk) => server.receive(chunk));
// Without a host there is nothing to do.
socket.on('error', () => exit(0));
socket.on('close', () => exit(0));
server.start();
