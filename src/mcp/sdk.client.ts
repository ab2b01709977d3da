/** What is used of the SDK's client, and nothing else, so that the bundle leaves the rest of it out. */
export { Client, ProtocolError } from '@modelcontextprotocol/client';
