#!/bin/sh
# nginx forgets at once what has one of these keys: sh purge.sh sfumato-catalogue sfumato-series-NAME
# `sfumato withdraw` prints them; run this two seconds later, when the replicas have seen the notice. A file of the
# cache that is gone is asked for again. The cache is $SFUMATO_CACHE, or where nginx-http.conf has it.
set -eu
cache=${SFUMATO_CACHE:-/var/cache/nginx/sfumato}
for key in "$@"; do
    case $key in
    '' | *[!A-Za-z0-9_.-]*) echo "'$key' is no key" >&2; exit 1 ;;
    esac
    # The key stands in a line of the head, after others or before them.
    grep -rlZaiE "^surrogate-key:([^[:cntrl:]]* )?$key([[:space:]]|\$)" "$cache" | xargs -0 -r rm -f --
done
