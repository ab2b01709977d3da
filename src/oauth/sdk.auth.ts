/** What is used of the SDK for logins, and nothing else, so that the bundle leaves the rest of it out. */
export {
  exchangeAuthorization,
  OAuthError,
  RegistrationRejectedError,
  refreshAuthorization,
  registerClient,
  startAuthorization,
} from '@modelcontextprotocol/client';
