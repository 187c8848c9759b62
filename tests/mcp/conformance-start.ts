// Started by the conformance suite with the port of the test and the address of the suite's server.
export {};

const [, , port = '', url = ''] = process.argv;
const query = new URLSearchParams({ url, version: process.env['MCP_CONFORMANCE_PROTOCOL_VERSION'] ?? '' });
const response = await fetch(`http://127.0.0.1:${port}/?${query.toString()}`);
console.log(await response.text());
process.exitCode = response.ok ? 0 : 1;
