"""Prototype: multi-scale candidates, then backward elimination by the gap between trends."""
import numpy as np, sys, time as clockmod, collections
from itertools import pairwise
sys.path.insert(0,'/work/wt/stages/src'); sys.path.insert(0,'/work/wt/stages/benchmarks')
from scipy.signal import find_peaks
from saddlescope.stages.noise import *
from saddlescope.stages.noise import rising_noise, blurred, lows, level_of, quantum
from made_curves import curves
PROM=5.0; MINFALL=0.05
import os
Z=float(os.environ.get('Z',4.0)); FL=float(os.environ.get('FL',1.0))
def peaks_of(lr, depth):
    low=lr.min()-100
    f,_=find_peaks(np.concatenate([[low],lr,[low]]),prominence=depth)
    return f-1
def widths(n):
    w=2.0; out=[]
    while w<n/24: out.append(w); w*=1.5
    return out+[n/24]
class C: pass
def candidates(loss, clock, n):
    found=[]
    ws=[(w,3.0) for w in widths(n)]
    ws+=[(w,1.0) for w in widths(n)[-2:]]
    for w,FL in ws:
        smooth=blurred(loss,w); curve=lows(smooth)
        noise=rising_noise(loss,w)
        sp=np.gradient(clock)
        floor=(FL*noise+1e-15*np.ptp(curve)+1e-300)/sp
        rate=-np.gradient(curve,clock)
        lr=np.log(np.maximum(rate,floor))
        ps=peaks_of(lr,np.log(PROM))
        if not len(ps): continue
        quiet=rate<=floor
        def valley(a,b):
            part=lr[a:b+1]; q=quiet[a:b+1]
            low=a+np.flatnonzero(q if q.any() else part==part.min())
            return int(low[len(low)//2])
        ends=[0,*ps,n-1]
        vs=[valley(a,b) for a,b in pairwise(ends)]
        for i,p in enumerate(ps):
            a,b=vs[i],vs[i+1]
            if any(a<c.at<b for c in found): continue
            if not(lr[a]<lr[p]-np.log(PROM)+1e-9 and lr[b]<lr[p]-np.log(PROM)+1e-9): continue # slope/unfinished
            fall=curve[a]-curve[b]
            if fall<MINFALL*level_of(curve)[a]: continue
            part=curve[a:b+1]
            s=a+int(np.flatnonzero(part>=curve[a]-.1*fall)[-1]); e=a+int(np.argmax(part<=curve[a]-.9*fall))
            c=C(); c.at=int(p); c.w=w; c.start=s; c.end=e; c.a=a; c.b=b
            found.append(c)
    found.sort(key=lambda c:c.at)
    return found
def line(loss, lo, hi, at):
    """Value at `at` of the line through loss[lo:hi], and per unit long-run variance the variance of that value; residual batches."""
    m=hi-lo; x=np.arange(lo,hi)
    if m<6:
        v=np.mean(loss[lo:hi]); return v,1/max(m,1),None
    xm=x.mean(); sxx=np.sum((x-xm)**2); y=loss[lo:hi]; sl=np.sum((x-xm)*(y-y.mean()))/sxx
    sl=min(sl,0.0)
    res=y-y.mean()-sl*(x-xm)
    return y.mean()+sl*(at-xm), 1/m+(at-xm)**2/sxx, res
def lrvar(res):
    k=10 if len(res)>=40 else max(3,len(res)//4)
    b=len(res)//k
    means=res[:k*b].reshape(k,b).mean(1)
    return b*np.sum(means**2)/max(k-2,1), max(k-2,1)
def long_noise(loss, n):
    """Share of the level, per root of points: deviation of means over long times."""
    best=np.zeros(n)
    for w in widths(n):
        sm=blurred(loss,w)
        best=np.maximum(best, rising_noise(loss,w)*w**1.5/.376/level_of(sm))
    return best
def eliminate(loss, cands, n):
    cands=list(cands); share=long_noise(loss,n)
    while cands:
        edges=[0]+[x for c in cands for x in (c.start,c.end)]+[n-1]
        segs=[(edges[2*i],edges[2*i+1]+1) for i in range(len(cands)+1)]
        segs=[(max(0,min(a,b-3)),max(b,a+3)) for a,b in segs]
        zs=[]
        for i,c in enumerate(cands):
            best=0
            for k in (1,2,4):
                vals=[];var=0
                for j,(lo,hi) in enumerate(segs[i:i+2]):
                    m=max((hi-lo)//k,3); lo2,hi2=(hi-m,hi) if j==0 else (lo,lo+m)
                    val,unit,_=line(loss,lo2,hi2,c.at)
                    sig=np.median(share[lo2:hi2])**2
                    vals.append(val); var+=unit*sig*np.mean(loss[lo2:hi2])**2
                gap=vals[0]-vals[1]
                if gap>MINFALL*vals[0]*0.6: best=max(best,gap/np.sqrt(var+1e-300))
            zs.append(best)
        worst=int(np.argmin(zs))
        if zs[worst]>=Z: 
            for c,z in zip(cands,zs): c.z=z
            return cands
        c=cands.pop(worst)
        # the fall of what is taken away belongs to a neighbour that it touches
    return cands
def find(loss, t, log_time):
    n=len(loss); clock=np.log(t) if log_time else t
    loss=loss/np.abs(loss).max()
    g=quantum(loss); loss,_=without_spikes(loss); loss=unrounded(loss,g)
    noise=rising_noise(loss,0)
    if np.quantile(noise/level_of(loss),.9)<1e-6:
        return None
    return eliminate(loss,candidates(loss,clock,n),n)
if __name__=='__main__':
    from saddlescope.stages import find_stages
    name=sys.argv[1]; verbose=len(sys.argv)>2
    by=collections.defaultdict(collections.Counter); t0=clockmod.process_time()
    for c in curves(name):
        r=find(c.loss,c.time,c.log_time)
        found=[d.at for d in find_stages(c.loss,c.time,log_time=c.log_time).drops] if r is None else [c.time[x.at] for x in r]
        T=(lambda v: np.log(v)) if c.log_time else (lambda v: v)
        pos=T(c.time); tol=0.025*(pos[-1]-pos[0]); used=set(); hit=0; miss=[]
        for d,v in zip(c.drops,c.visible):
            a,m,b=d
            cand=[i for i,f in enumerate(found) if i not in used and T(a)-tol<=T(f)<=T(b)+tol]
            if cand: used.add(cand[0]); hit+=v
            elif v:
                i=np.searchsorted(c.time,[a,b]); miss.append((round(m),int(i[1]-i[0]),round(float(c.clean[max(i[0]-5,0)]),3),round(float(c.clean[min(i[1]+5,len(c.clean)-1)]),3)))
        false=[(f,) for i,f in enumerate(found) if i not in used]
        if verbose and (miss or false): print(f"{c.family[:18]:18s} {c.noise:14s} n {len(c.loss):5d} {'log' if c.log_time else ''} miss {miss} false {[round(f[0]) for f in false]} all {[round(m) for _,m,_ in c.drops]} found {[(round(c.time[x.at]),round(x.w),round(x.z,1)) for x in r] if r is not None else found}"[:260])
        for k in (('all',),('noise',c.noise),('family',c.family)):
            by[k].update(hit=hit,truth=sum(c.visible),hidden=len(c.drops)-sum(c.visible),false=len(false),curves=1, sfalse=len(false) if not c.drops else 0, scurves=not c.drops)
    for k,v in by.items():
        P=v['hit']/max(v['hit']+v['false']-v['sfalse'],1); R=v['hit']/max(v['truth'],1)
        print(f"{' '.join(k):36s} P {P:.3f} R {R:.3f} truth {v['truth']:4d} false/stageless {v['sfalse']/max(v['scurves'],1):.2f} curves {v['curves']}")
    print(clockmod.process_time()-t0)
