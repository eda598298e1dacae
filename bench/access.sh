# shellcheck shell=bash
# Sourced by bench/run.sh: the credentials of the scenario `access`, where callers are identified by a key or by a signed token.
: "${scratch:=}"

base64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }

# Writes $scratch/keys.json, a JWK Set, and $scratch/token, which its key has signed with RS256.
make_token() {
    local modulus head claims
    openssl genrsa -out "$scratch/issuer.pem" 2048 2>"$scratch/openssl" || die "openssl: $(tail -n 1 "$scratch/openssl")"
    modulus=$(openssl rsa -in "$scratch/issuer.pem" -noout -modulus 2>/dev/null | sed 's/^Modulus=//' | tr -d '\n' |
        sed 's/../\\x&/g' | xargs -0 printf '%b' | base64url)
    printf '{"keys":[{"kty":"RSA","kid":"k","alg":"RS256","use":"sig","e":"AQAB","n":"%s"}]}' "$modulus" >"$scratch/keys.json"
    head=$(printf '{"alg":"RS256","typ":"JWT","kid":"k"}' | base64url)
    claims=$(printf '{"iss":"https://idp.test","aud":"bench","sub":"alice","exp":%d,"scope":"bench:call"}' \
        $(($(date +%s) + 86400)) | base64url)
    printf '%s.%s.%s' "$head" "$claims" \
        "$(printf '%s.%s' "$head" "$claims" | openssl dgst -sha256 -sign "$scratch/issuer.pem" | base64url)" >"$scratch/token"
}

# access_of NAME: the line of the configuration for the gateway of this name; empty: its callers need no credential.
access_of() {
    local rules='rules: [{discover: authenticated, call: authenticated}]' digest
    case $1 in
        cardea-key)
            digest=$(printf bench-key | openssl dgst -sha256 -r | cut -d ' ' -f 1)
            echo "access: {providers: [{type: api_key, name: keys, keys: [{name: bench, sha256: \"$digest\"}]}], $rules}"
            ;;
        cardea-token)
            echo "access: {providers: [{type: jwt, name: idp, issuer: \"https://idp.test\", audience: bench," \
                "algorithms: [RS256], jwks_file: \"$scratch/keys.json\"}], $rules}"
            ;;
    esac
}

# credential_of NAME: the header with which that gateway is called, or nothing. What a gateway does not read costs it only the bytes.
credential_of() {
    case $1 in
        cardea-key | cardea-unread-key) echo 'X-API-Key: bench-key' ;;
        cardea-mcp | cardea-program) cat "$scratch/$1.session" ;;
        cardea-token | cardea-unread-token) echo "Authorization: Bearer $(<"$scratch/token")" ;;
    esac
}
